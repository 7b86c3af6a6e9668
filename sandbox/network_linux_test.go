package sandbox_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"jp/sandbox"
)

// networks are things that a program may try on networks.
func networks() map[string]func(string) error {
	acts := map[string]func(string) error{
		"listen": func(at string) error {
			l, err := net.Listen("tcp", at)
			if err == nil {
				l.Close()
			}
			return err
		},
		"serve":         serve,
		"interfaces":    interfaces,
		"stream pair":   func(string) error { return pair(syscall.SOCK_STREAM) },
		"datagram pair": func(string) error { return pair(syscall.SOCK_DGRAM) },
		"own loopback": func(string) error {
			fmt.Println(sandbox.OwnLoopback())
			return nil
		},
		"own loopback, without CAP_NET_ADMIN": func(string) error {
			runtime.LockOSThread()
			if err := unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_NET_ADMIN, 0, 0, 0); err != nil {
				return err
			}
			if err := os.Setenv(actVariable, "own loopback"); err != nil {
				return err
			}
			return syscall.Exec(os.Args[0], os.Args, os.Environ())
		},
		"own loopback, without networks": func(string) error {
			if err := os.WriteFile("/proc/sys/user/max_net_namespaces", []byte("0"), 0); err != nil {
				return err
			}
			fmt.Println(sandbox.OwnLoopback())
			return nil
		},
		"raise the loopback interface": func(string) error { return setFlags(unix.IFF_UP) },
		"lower the loopback interface": func(string) error { return setFlags(0) },
	}
	for _, family := range []int{unix.AF_UNIX, unix.AF_PACKET, unix.AF_VSOCK, unix.AF_ALG} {
		acts["socket "+strconv.Itoa(family)] = func(string) error {
			_, err := unix.Socket(family, unix.SOCK_DGRAM, 0)
			if errors.Is(err, unix.EAFNOSUPPORT) { // without the family there is no socket to refuse
				return nil
			}
			return err
		}
	}
	for _, network := range []string{"tcp", "udp", "unix"} {
		acts["dial "+network] = func(at string) error { return dial(network, at, "program") }
	}
	return acts
}

func dial(network, at, text string) error {
	conn, err := net.Dial(network, at)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Write([]byte(text))
	return err
}

// serve listens at an address, and asks itself something there.
func serve(at string) error {
	listener, err := net.Listen("tcp", at)
	if err != nil {
		return err
	}
	go func() {
		if conn, err := listener.Accept(); err == nil {
			_, _ = io.Copy(conn, conn)
			_ = conn.Close()
		}
	}()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		return err
	}
	if _, err := conn.Write([]byte("echo")); err != nil {
		return err
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		return err
	}
	answer, err := io.ReadAll(conn)
	if err == nil && string(answer) != "echo" {
		err = fmt.Errorf("answer %q", answer)
	}
	return err
}

// interfaces prints the interfaces, with their addresses.
func interfaces(string) error {
	all, err := net.Interfaces()
	if err != nil {
		return err
	}
	for _, i := range all {
		addresses, err := i.Addrs()
		if err != nil {
			return err
		}
		fmt.Println(i.Name, i.Flags&net.FlagUp != 0, addresses)
	}
	return nil
}

func setFlags(flags uint16) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(flags)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}

func pair(kind int) error {
	_, err := syscall.Socketpair(syscall.AF_UNIX, kind, 0)
	return err
}

// A service is a program that a user has running.
type service struct {
	network, at string
	next        func() (string, error) // the next client's message
}

// services are one of each kind.
func services(t *testing.T) map[string]service {
	t.Helper()
	folder, err := os.MkdirTemp("", "") // shorter than t.TempDir
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	all := map[string]service{}
	for name, at := range map[string][2]string{
		"tcp": {"tcp", "127.0.0.1:0"}, "tcp 6": {"tcp", "[::1]:0"}, "anywhere": {"tcp", "0.0.0.0:0"},
		"unix": {"unix", filepath.Join(folder, "s")}, "abstract": {"unix", "@jp-sandbox-test-" + strconv.Itoa(os.Getpid())},
	} {
		listener, err := net.Listen(at[0], at[1])
		if name == "tcp 6" && errors.Is(err, unix.EAFNOSUPPORT) {
			continue
		}
		require.NoError(t, err)
		t.Cleanup(func() { listener.Close() })
		all[name] = service{at[0], listener.Addr().String(), func() (string, error) {
			conn, err := listener.Accept()
			if err != nil {
				return "", err
			}
			defer conn.Close()
			text, err := io.ReadAll(conn)
			return string(text), err
		}}
	}
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { packets.Close() })
	all["udp"] = service{"udp", packets.LocalAddr().String(), func() (string, error) {
		text := make([]byte, 99)
		n, _, err := packets.ReadFrom(text)
		return string(text[:n]), err
	}}
	return all
}

// reached reports whether a program that is started so comes to the service. The test itself
// comes after it.
func (s service) reached(t *testing.T, run func(argv ...string), argv []string) bool {
	t.Helper()
	run(argv...)
	require.NoError(t, dial(s.network, s.at, "test"))
	text, err := s.next()
	require.NoError(t, err)
	if text == "test" {
		return false
	}
	require.Equal(t, "program", text)
	text, err = s.next()
	require.NoError(t, err)
	require.Equal(t, "test", text)
	return true
}

func requireFilter(t *testing.T) {
	t.Helper()
	if !sandbox.Supported().Calls {
		// Some kernels are built without filters of system calls.
		t.Skip("no filter of system calls here: more than TCP cannot be forbidden")
	}
}

// requireOwnLoopback is for tests of a network of the program's own.
func requireOwnLoopback(t *testing.T) {
	t.Helper()
	requireFilter(t)
	if !sandbox.OwnLoopback() {
		// Containers and some distributions refuse namespaces.
		t.Skip("programs have no network of their own here")
	}
}

// each runs a test with networks of the programs' own if possible, and without.
func each(t *testing.T, test func(t *testing.T, own bool)) {
	t.Helper()
	requireFilter(t)
	for _, own := range []bool{sandbox.OwnLoopback(), false} {
		t.Run(fmt.Sprint("own loopback ", own), func(t *testing.T) {
			t.Cleanup(sandbox.SetOwnLoopback(own))
			test(t, own)
		})
	}
}

// In any network, a program cannot reach the user's services.
func TestServices(t *testing.T) {
	each(t, func(t *testing.T, _ bool) {
		for name, s := range services(t) {
			g := newGround(t)
			argv := g.act("dial "+s.network, s.at)
			confined := func(argv ...string) { _, _ = g.confined(t, argv...) }
			require.True(t, s.reached(t, func(argv ...string) { _, _ = g.free(argv...) }, argv), name)
			require.False(t, s.reached(t, confined, argv), name)
			g.rules.Network = true
			require.True(t, s.reached(t, confined, argv), name)
		}
	})
}

// A program reaches listeners on its own loopback interface, but not those of another run.
func TestOwnLoopback(t *testing.T) {
	each(t, func(t *testing.T, own bool) {
		for _, at := range []string{"127.0.0.1:0", "localhost:0", "[::1]:0", ":0", "127.3.2.1:0"} {
			g := newGround(t)
			argv := g.act("serve", at)
			if out, err := g.free(argv...); err != nil {
				t.Log("not possible without rules either: " + out)
				continue
			}
			out, err := g.confined(t, argv...)
			require.Equal(t, own, err == nil, "%s: %s", at, out)
			g.rules.Network = true
			g.requireAllowed(t, argv...)
		}
	})
}

func TestOneNetworkARun(t *testing.T) {
	requireOwnLoopback(t)
	g := newGround(t)
	network := func() string {
		out, err := g.confined(t, "readlink", "/proc/self/ns/net")
		require.NoError(t, err, out)
		return out
	}
	mine, err := os.Readlink("/proc/self/ns/net")
	require.NoError(t, err)
	require.NotEqual(t, mine+"\n", network())
	start, err := sandbox.Prepare(g.rules, []string{"cat"}, g.work) // it waits, so that its number stays its own
	require.NoError(t, err)
	defer start.Close()
	cmd := g.started(start)
	end, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	other, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", cmd.Process.Pid))
	require.NoError(t, err)
	require.NotEqual(t, other+"\n", network())
	require.NoError(t, end.Close())
	require.NoError(t, cmd.Wait())
	g.rules.Network = true
	require.Equal(t, mine+"\n", network())
}

func TestNothingButLoopback(t *testing.T) {
	requireOwnLoopback(t)
	g := newGround(t)
	out, err := g.confined(t, g.act("interfaces", "")...)
	require.NoError(t, err, out)
	require.Regexp(t, `^lo true \[127\.0\.0\.1/8( ::1/128)?\]\n$`, out)
	for _, c := range [][2]string{{"dial udp", "192.0.2.1:9"}, {"dial udp", "[2001:db8::1]:9"}, {"dial tcp", "192.0.2.1:9"}, {"dial tcp", "169.254.169.254:80"}} {
		out, err := g.confined(t, g.act(c[0], c[1])...)
		require.Error(t, err, c)
		require.Regexp(t, "unreachable|cannot assign|not supported", out, c)
	}
	if os.Geteuid() == 0 {
		out, err := g.free(g.act("raise the loopback interface", "")...)
		require.NoError(t, err, out)
	}
	for _, act := range []string{"raise the loopback interface", "lower the loopback interface"} {
		out, err := g.confined(t, g.act(act, "")...)
		require.Error(t, err, act)
		require.Contains(t, out, "not permitted", act)
	}
}

// In a network of its own, sockets of other families lead nowhere either. From landlock 9 on a program has
// sockets in the file system.
func TestOtherFamilies(t *testing.T) {
	each(t, func(t *testing.T, _ bool) {
		for _, family := range []int{unix.AF_UNIX, unix.AF_PACKET, unix.AF_VSOCK, unix.AF_ALG} {
			if family == unix.AF_UNIX && sandbox.Supported().ABI >= 9 {
				continue
			}
			g := newGround(t)
			out, err := g.confined(t, g.act("socket "+strconv.Itoa(family), "")...)
			require.Error(t, err, "%d: %s", family, out)
			require.Contains(t, out, "permission denied")
		}
		for name, allowed := range map[string]bool{"stream pair": true, "interfaces": true, "datagram pair": sandbox.Supported().ABI >= 9} {
			g := newGround(t)
			out, err := g.confined(t, g.act(name, "")...)
			require.Equal(t, allowed, err == nil, "%s: %s", name, out)
			g.rules.Network = true
			g.requireAllowed(t, g.act(name, "")...)
		}
	})
}

// A process that stayed in jp's network breaks the rules, and does not run.
func TestWithoutLeaving(t *testing.T) {
	requireOwnLoopback(t)
	t.Cleanup(sandbox.WithoutStarter())
	g := newGround(t)
	start, err := sandbox.Prepare(g.rules, sh("touch made"), g.work)
	require.NoError(t, err)
	defer start.Close()
	out, err := g.run(start.Argv, start.Files...)
	require.Error(t, err)
	require.Contains(t, out, "the program was not run, because it could not be confined: bring up a loopback interface of its own")
	require.NoFileExists(t, filepath.Join(g.work, "made"))
}

// If the starter is impossible, or not written for the machine, the second stage confines.
func TestWithoutStarter(t *testing.T) {
	requireOwnLoopback(t)
	path := func() string {
		start, err := sandbox.Prepare(sandbox.Rules{}, []string{"true"}, "/")
		require.NoError(t, err)
		start.Close()
		return start.Path
	}
	if path() == "" {
		// Then all tests are of the second stage.
		t.Skip("no starter is written for this machine")
	}
	t.Cleanup(sandbox.WithoutStarter())
	require.Empty(t, path())
	for name, test := range map[string]func(*testing.T){
		"identity": TestIdentity, "services": TestServices, "own loopback": TestOwnLoopback, "families": TestOtherFamilies, "allowed": TestAllowed,
		"forbidden": TestForbidden, "late errors": TestLateErrors, "become": TestBecome, "not confined": TestNotConfinedIsNotRun,
	} {
		t.Run(name, test)
	}
}

// If a network cannot be made, or its loopback interface cannot be brought up, there is none.
func TestOwnLoopbackIsTried(t *testing.T) {
	requireOwnLoopback(t)
	asRoot := func(act string) string {
		g := newGround(t)
		argv := g.act(act, "")
		cmd := g.command(argv)
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}},
		}
		out, err := g.output(cmd)
		require.NoError(t, err, out)
		return out
	}
	if exec.Command("unshare", "-Ur", "true").Run() != nil {
		// Root may have a network without a user namespace.
		t.Skip("no user namespaces here")
	}
	require.Equal(t, "true\n", asRoot("own loopback"))
	require.Equal(t, "false\n", asRoot("own loopback, without networks"))
	require.Equal(t, "false\n", asRoot("own loopback, without CAP_NET_ADMIN"))
}

// The user's own files stay theirs, and so do a program's. An ordinary user has neither privileges nor a
// second user.
func TestIdentity(t *testing.T) {
	requireOwnLoopback(t)
	g := newGround(t)
	const script = `id -u; id -g; stat -c '%u %g' . /proc/self/; touch made; stat -c '%u %g' made; grep CapEff /proc/$$/status; grep NoNewPrivs /proc/$$/status`
	g.rules.Network = true
	before, err := g.confined(t, sh(script)...)
	require.NoError(t, err, before)
	g.rules.Network = false
	after, err := g.confined(t, sh(script)...)
	require.NoError(t, err, after)
	require.Equal(t, before, after)
	info, err := os.Stat(filepath.Join(g.work, "made"))
	require.NoError(t, err)
	require.Equal(t, uint32(os.Geteuid()), info.Sys().(*syscall.Stat_t).Uid)
	if os.Geteuid() != 0 {
		require.Contains(t, after, "CapEff:\t0000000000000000\n")
	}
}

// An ordinary user is confined as root is: root runs the tests of this package as one.
func TestAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		// Then all tests are.
		t.Skip("only root can become another user")
	}
	if testing.Short() {
		// -short skips the slow tests.
		t.Skip("runs all tests once more")
	}
	const user = 12345
	folder, err := os.MkdirTemp("", "")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	require.NoError(t, os.Chown(folder, user, user))
	program := filepath.Join(folder, "tests")
	content, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(program, content, 0o755))
	cmd := exec.Command(program, "-test.v", "-test.run", "Network|Loopback|Services|Families|Leaving|Identity|Allowed|Forbidden|Processes|Confined|Become|Objects|Starter|Late")
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "HOME="+folder, "TMPDIR="+folder)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, os.ErrPermission) {
		t.Skip("another user cannot get at the folder for temporary files")
	}
	require.NoError(t, err, string(out))
	t.Log(string(out))
	require.Contains(t, string(out), "--- PASS: TestServices/own_loopback")
}
