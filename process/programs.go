package process

// A Program is a running process of this user.
type Program struct {
	PID     int
	Dir     string   // where it works, "" if unreadable for this process
	Args    []string // as it was started
	Environ []string // as it was started
}

// Programs are the running processes of this user whose program has such a name, without
// this process and those that it started. sure is whether the system tells of them.
func Programs(is func(name string) bool) (found []Program, sure bool) { return programs(is) }
