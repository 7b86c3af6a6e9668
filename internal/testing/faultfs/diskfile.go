package faultfs

import (
	"io"
	"syscall"
	"time"

	"jp/gitstore/odb"
)

type diskFile struct {
	disk *Disk
	node *node
	at   int
}

func (f *diskFile) Read(p []byte) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.node.entries != nil {
		return 0, syscall.EISDIR
	}
	n := copy(p, f.node.data[f.at:])
	if f.at += n; n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (f *diskFile) Write(p []byte) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.node.data = append(f.node.data, p...)
	f.node.synced = false
	f.node.modified = time.Now().UnixNano()
	return len(p), nil
}

func (f *diskFile) Stat() (odb.Info, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return f.node.info(), nil
}

func (f *diskFile) StartWriteout() error { return nil }

func (f *diskFile) AwaitWriteout() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.written()
	return nil
}

// written logs that the data has left for the disk.
func (f *diskFile) written() {
	f.disk.log = append(f.disk.log, change{node: f.node})
	f.node.last = len(f.disk.log)
}

func (f *diskFile) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.written()
	f.node.synced = true
	f.disk.committed = max(f.disk.committed, f.node.last)
	return nil
}

func (f *diskFile) Close() error { return nil }
