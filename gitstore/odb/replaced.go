package odb

import "sync"

// maxReplaced is the number of files that stay open at most until they are closed together.
const maxReplaced = 16

// replacedFiles are files that others were renamed over. Closing the last handle frees a file, which may
// wait for the disk. So another thread does that, once for several files.
type replacedFiles struct {
	mu      sync.Mutex
	open    []File
	closing sync.WaitGroup
}

// add takes over a file. One that is gone may still have a name elsewhere, as on NFS,
// so only a file system with an order of its own is left with several.
func (r *replacedFiles) add(f File, path Path) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = append(r.open, f)
	if len(r.open) < maxReplaced && path == PathOrdered {
		return
	}
	files := r.open
	r.open = nil
	r.closing.Go(func() { closeAll(files) })
}

func (r *replacedFiles) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	closeAll(r.open)
	r.open = nil
	r.closing.Wait()
}

func closeAll(files []File) {
	for _, f := range files {
		f.Close()
	}
}
