package powercut_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"jp/gitstore/odb"
	"jp/proof/powercut"
)

// lacks says why this process cannot cut a file system's power, "" if it can. It tries the needed
// operations.
func lacks(t *testing.T, fs powercut.FileSystem) string {
	t.Helper()
	if os.Geteuid() != 0 {
		return "needs root"
	}
	if os.Getenv(roleVariable) != testsRole {
		return "needs a mount namespace of its own, which is refused here"
	}
	served, err := powercut.OpenFuseDisk(t.TempDir(), powercut.SectorSize*8)
	if err != nil {
		return err.Error()
	}
	defer func() { require.NoError(t, served.Close()) }()
	device, err := powercut.Attach(served.DiskPath())
	if err != nil {
		return err.Error()
	}
	require.NoError(t, device.Close())
	return fs.Missing()
}

// A target is the file system on which jp writes, and the path that it should choose.
type target struct {
	fs    powercut.FileSystem
	path  odb.Path
	alone bool // without other writers
}

// String is the place for a table.
func (p target) String() string {
	text := fmt.Sprintf("%s, %s path", p.fs.Name, p.path)
	if p.alone {
		text += ", alone on the disk"
	}
	return text
}

// A fixture is a FuseDisk, and a file system mounted on the disks that are put there.
type fixture struct {
	*testing.T
	target
	oracle *oracle
	served *powercut.FuseDisk
	dir    string          // the mount point
	base   *powercut.Image // with the user's repository, and room for noise
	files  bool            // workers record files
}

func newFixture(t *testing.T, p target, o *oracle) *fixture {
	t.Helper()
	r := &fixture{T: t, target: p, oracle: o, dir: t.TempDir()}
	served, err := powercut.OpenFuseDisk(t.TempDir(), p.fs.Size)
	require.NoError(t, err)
	r.served = served
	t.Cleanup(func() { require.NoError(t, served.Close()) })
	r.base = powercut.NewImage(nil)
	device := r.insert(powercut.NewDisk(r.base))
	require.NoError(t, p.fs.Format(device.Path))
	require.NoError(t, p.fs.Mount(device, r.dir))
	t.Cleanup(func() { p.fs.Drop(r.dir) }) // of the mount that is left when the test fails
	install(t, o.repo, r.dir, "repo")
	r.eject(device)
	return r
}

// install copies the user's repository onto a mounted file system, makes room
// for noise beside it, and makes all of it durable.
func install(t *testing.T, repo, dir, name string) {
	t.Helper()
	out, err := exec.Command("cp", "-a", repo, filepath.Join(dir, name)).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "noise"), 0o700))
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	require.NoError(t, err)
	defer unix.Close(fd)
	require.NoError(t, unix.Syncfs(fd))
}

func (r *fixture) insert(d *powercut.Disk) *powercut.Device {
	r.Helper()
	r.served.Insert(d)
	device, err := powercut.Attach(r.served.DiskPath())
	require.NoError(r, err)
	return device
}

// eject takes a disk away. A git that answered a worker's questions ends when it reads the end of
// its input, which may be a little after the worker has ended.
func (r *fixture) eject(device *powercut.Device) {
	r.Helper()
	err := r.fs.Unmount(device, r.dir)
	for end := time.Now().Add(time.Minute); errors.Is(err, unix.EBUSY) && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
		err = r.fs.Unmount(device, r.dir)
	}
	require.NoError(r, err)
	require.NoError(r, device.Close())
}

// record has a worker play the oracle's script, and returns the disk's content before it, and all calls
// since.
func (r *fixture) record(c care) (*powercut.Image, *powercut.Log) {
	r.Helper()
	disk := powercut.NewDisk(powercut.NewImage(r.base))
	device := r.insert(disk)
	require.NoError(r, r.fs.Mount(device, r.dir))
	before := disk.Record()
	j := r.job(r.dir, "repo", c, r.oracle)
	j.Files = r.files
	worker := j.start(r.T, r.served.MarkPath())
	err := worker.Wait()
	log := disk.Stop()
	require.NoError(r, err, "%v", worker.Stderr)
	r.eject(device)
	require.Len(r, log.Marks(), r.oracle.steps)
	return before, log
}

// job is a worker's in a repository of a mounted file system.
func (p target) job(dir, repo string, c care, o *oracle) job {
	j := job{Repo: filepath.Join(dir, repo), Path: p.path, Care: c, Seed: scriptSeed, Steps: o.steps}
	if !p.alone {
		j.Noise = filepath.Join(dir, "noise")
	}
	return j
}

// look mounts an image and returns its faults.
func (r *fixture) look(image *powercut.Image, acknowledged int) []string {
	r.Helper()
	device := r.insert(powercut.NewDisk(image))
	if err := r.fs.Mount(device, r.dir); err != nil {
		require.NoError(r, device.Close())
		return []string{err.Error()}
	}
	defer r.eject(device)
	return inspection{r.T, r.oracle, filepath.Join(r.dir, "repo")}.problems(acknowledged)
}
