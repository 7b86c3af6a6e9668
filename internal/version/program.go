package version

import "os"

// OwnProgram is the program that runs, also if its file was replaced since.
func OwnProgram() string {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self
	}
	if path, err := os.Executable(); err == nil {
		return path
	}
	return os.Args[0]
}
