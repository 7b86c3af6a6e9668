package live

import (
	"net"
	"time"

	"jp/agent/toolset"
	"jp/process"
	"jp/process/attach"
	"jp/tool/command"
)

// ownPeers accepts this user's processes, except those that a tool started.
type ownPeers struct {
	*net.UnixListener
	locks process.Locks
}

// Accept implements [net.Listener].
func (l ownPeers) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if err = l.check(conn); err == nil {
			return conn, nil
		}
		if line, encoded := attach.Encode(&attach.Closing{Reason: err.Error()}); encoded == nil {
			_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
			_, _ = conn.Write(line)
		}
		conn.Close()
	}
}

func (l ownPeers) check(conn *net.UnixConn) error {
	if err := process.CheckPeer(conn); err != nil {
		return err
	}
	if pid, err := process.PeerPID(conn); err == nil && l.locks.FromTool(pid, command.Marker) {
		return toolset.ErrFromTool
	}
	return nil
}
