package powercut

// pageSize is the unit in which an Image keeps its bytes.
const pageSize = 4096

type page [pageSize]byte

// An Image is the content of a disk. Unwritten parts are as in the image below, or zero. It is not safe for
// several goroutines at once.
type Image struct {
	below *Image
	pages map[int64]*page
}

// NewImage is an image that begins with the content of another, or with zeros
// if that is nil. Writes to it leave the one below as it is.
func NewImage(below *Image) *Image {
	return &Image{below: below, pages: map[int64]*page{}}
}

// Read fills p with the bytes at an offset.
func (i *Image) Read(p []byte, offset int64) {
	for len(p) > 0 {
		n, at := offset/pageSize, int(offset%pageSize)
		size := min(len(p), pageSize-at)
		if found := i.find(n); found != nil {
			copy(p[:size], found[at:])
		} else {
			clear(p[:size])
		}
		p, offset = p[size:], offset+int64(size)
	}
}

// Write puts data at an offset.
func (i *Image) Write(data []byte, offset int64) {
	for len(data) > 0 {
		n, at := offset/pageSize, int(offset%pageSize)
		size := min(len(data), pageSize-at)
		i.writePage(data[:size], n, at)
		data, offset = data[size:], offset+int64(size)
	}
}

// writePage writes within one page. Zeros over zeros take no memory.
func (i *Image) writePage(data []byte, n int64, at int) {
	own := i.pages[n]
	if own == nil {
		below := i.find(n)
		if below == nil && isZero(data) {
			return
		}
		own = &page{}
		if below != nil {
			*own = *below
		}
		i.pages[n] = own
	}
	copy(own[at:], data)
}

func (i *Image) find(n int64) *page {
	for ; i != nil; i = i.below {
		if p := i.pages[n]; p != nil {
			return p
		}
	}
	return nil
}

func isZero(data []byte) bool {
	for _, b := range data {
		if b != 0 {
			return false
		}
	}
	return true
}
