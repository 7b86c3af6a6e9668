package turnloop

// ForgetProcess makes the loop act as another process from now on.
func ForgetProcess() { tooMany = newTooMany() }
