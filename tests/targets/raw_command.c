/* Runs the command line in the variable RAW_COMMAND as it is, with this program's standard handles:
   Wine's loader quotes the words that it is given anew, and a shell's command line is no list of words. */
#include <windows.h>

int main(void)
{
    static wchar_t line[32768];
    STARTUPINFOW startup = { sizeof startup };
    PROCESS_INFORMATION made;
    DWORD status = 127;
    if (!GetEnvironmentVariableW(L"RAW_COMMAND", line, 32768))
        return 126;
    SetEnvironmentVariableW(L"RAW_COMMAND", NULL);
    startup.dwFlags = STARTF_USESTDHANDLES;
    startup.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
    startup.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
    startup.hStdError = GetStdHandle(STD_ERROR_HANDLE);
    if (!CreateProcessW(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &made))
        return 125;
    CloseHandle(startup.hStdInput);
    CloseHandle(startup.hStdOutput);
    CloseHandle(startup.hStdError);
    WaitForSingleObject(made.hProcess, INFINITE);
    GetExitCodeProcess(made.hProcess, &status);
    return (int)status;
}
