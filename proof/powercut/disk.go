package powercut

import "sync"

// A Disk answers reads and writes, and logs them while it is recorded. It is safe for several goroutines at
// once.
type Disk struct {
	mu    sync.Mutex
	image *Image
	log   *Log
}

// NewDisk is a disk with some content, which it changes.
func NewDisk(image *Image) *Disk { return &Disk{image: image} }

// Record begins a log. It returns the content of this moment, which counts as durable and stays unchanged.
func (d *Disk) Record() (before *Image) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before = d.image
	d.image, d.log = NewImage(before), &Log{}
	return before
}

// Stop ends the log that Record began.
func (d *Disk) Stop() *Log {
	d.mu.Lock()
	defer d.mu.Unlock()
	log := d.log
	d.log = nil
	return log
}

func (d *Disk) read(p []byte, offset int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.image.Read(p, offset)
}

func (d *Disk) write(data []byte, offset int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.image.Write(data, offset)
	if d.log != nil {
		d.log.write(data, offset)
	}
}

func (d *Disk) flush() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.log != nil {
		d.log.flush()
	}
}

func (d *Disk) mark(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.log != nil {
		d.log.mark(text)
	}
}
