//go:build !amd64

package sandbox

// ownUserNamespace lets a process start in a user namespace and namespaces of its own.
func (s *Start) ownUserNamespace() { s.Attr = inUserNamespace() }
