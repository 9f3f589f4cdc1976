"""Makes this folder importable: helpers such as `scripted` serve the tests of several rooms."""

from hypothesis import HealthCheck, settings

# No test asserts a time: a busy machine must not make a property fail by its slowness.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")
