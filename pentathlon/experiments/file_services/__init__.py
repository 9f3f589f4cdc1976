"""File services over an emulated link: servers, clients, their behaviours, and the tasks."""
