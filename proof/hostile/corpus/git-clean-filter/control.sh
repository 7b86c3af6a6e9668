git -c core.fsmonitor= -c core.hooksPath=/dev/null status >/dev/null
