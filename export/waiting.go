package export

import (
	"bytes"
	"io"
	"os"
)

// A Document is an export that is ready to be written. Its beginning tells of all of it, so the rest
// waits for it: the first megabyte in memory, more in a temporary file without a name.
type Document struct {
	head, foot []byte
	body       bytes.Buffer
	file       *os.File // nil: all is in body
}

// heldBody is the number of bytes of a document in memory.
const heldBody = 1 << 20

// add adds to the body.
func (d *Document) add(p []byte) (err error) {
	d.body.Write(p)
	if d.body.Len() < heldBody {
		return nil
	}
	if d.file == nil {
		if d.file, err = os.CreateTemp("", "jp-export-*"); err == nil {
			err = os.Remove(d.file.Name())
		}
	}
	if err == nil {
		_, err = d.body.WriteTo(d.file)
	}
	return err
}

// Write writes the document, once.
func (d *Document) Write(w io.Writer) error {
	_, err := w.Write(d.head)
	if d.file != nil && err == nil {
		if _, err = d.file.Seek(0, io.SeekStart); err == nil {
			_, err = io.Copy(w, d.file)
		}
	}
	if err == nil {
		_, err = d.body.WriteTo(w)
	}
	if err == nil {
		_, err = w.Write(d.foot)
	}
	return err
}

// Close frees the body.
func (d *Document) Close() {
	if d.body.Reset(); d.file != nil {
		_ = d.file.Close()
		d.file = nil
	}
}
