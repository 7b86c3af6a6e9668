package turnloop

// ForgetProcess makes the loop take what follows for another process.
func ForgetProcess() { tooMany = newTooMany() }
