git -c core.fsmonitor= -c core.hooksPath=/dev/null add a.bin
