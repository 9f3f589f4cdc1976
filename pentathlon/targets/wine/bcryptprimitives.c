/* bcryptprimitives.dll for Wine before version 9, which has none: the random numbers that programs
 * written in Rust ask for at their start. Never installed on Windows, which has its own. */
#include <windows.h>

/* RtlGenRandom of advapi32 by its exported name. */
BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T length)
{
    while (length > 0) {
        ULONG part = length < 0x40000000 ? (ULONG)length : 0x40000000;
        if (!SystemFunction036(buffer, part))
            return FALSE;
        buffer += part;
        length -= part;
    }
    return TRUE;
}

BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, LPVOID reserved)
{
    (void)module, (void)reason, (void)reserved;
    return TRUE;
}
