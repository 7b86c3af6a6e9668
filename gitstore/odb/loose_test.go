package odb

import (
	"bytes"
	"encoding/hex"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestLooseObjectOfAnySize(t *testing.T) {
	opts := &Options{Format: testFormat, MaxObject: 1 << 20}
	for _, size := range []int{
		0, 1, storedLimit, storedLimit + 1, minRead, len(looseReader{}.content) - maxHeader, len(looseReader{}.content), 3 * len(looseReader{}.content), 1 << 20,
	} {
		for name, letters := range map[string]int{"the same": 1, "text": 8, "noise": 256} {
			data := make([]byte, size)
			for i := range data {
				data[i] = byte(i*i*7>>3%letters) + byte(i>>11*letters)
			}
			o := Object{Kind: "blob", Data: data}
			o.OID = OID(hex.EncodeToString(sumOf(append(objectHeader(o.Kind, size), data...))))
			file := deflate(nil, o)
			for how, read := range map[string]func(io.Reader) io.Reader{
				"as it comes":  func(r io.Reader) io.Reader { return r },
				"in halves":    iotest.HalfReader,
				"in bytes":     iotest.OneByteReader,
				"end and data": iotest.DataErrReader,
			} {
				kind, got, err := readLoose(io.NopCloser(read(bytes.NewReader(file))), o.OID, opts, true)
				require.NoError(t, err, "%d of %s, %s", size, name, how)
				require.Equal(t, "blob", kind)
				require.True(t, bytes.Equal(data, got))
			}
			_, _, err := readLoose(io.NopCloser(iotest.HalfReader(bytes.NewReader(file[:len(file)-1]))), o.OID, opts, true)
			require.ErrorIs(t, err, ErrObjectCorrupt)
			_, _, err = readLoose(io.NopCloser(iotest.TimeoutReader(iotest.OneByteReader(bytes.NewReader(file)))), o.OID, opts, true)
			require.ErrorIs(t, err, iotest.ErrTimeout)
		}
	}
}
