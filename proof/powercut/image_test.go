package powercut_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/proof/powercut"
)

// size is how large the disks of these tests are: some pages, and a part of one.
const size = 5*4096 + 512

func content(i *powercut.Image) []byte {
	all := make([]byte, size)
	i.Read(all, 0)
	return all
}

// drawWrite draws data and a place for it, on any byte.
func drawWrite(t *rapid.T) (data []byte, offset int) {
	offset = rapid.IntRange(0, size-1).Draw(t, "offset")
	data = rapid.SliceOfN(rapid.Byte(), 1, size-offset).Draw(t, "data")
	return data, offset
}

func TestImageIsItsBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		image, model := powercut.NewImage(nil), make([]byte, size)
		var below []*powercut.Image
		var were [][]byte
		for range rapid.IntRange(1, 8).Draw(t, "writes") {
			if rapid.Bool().Draw(t, "layer") {
				below, were = append(below, image), append(were, slices.Clone(model))
				image = powercut.NewImage(image)
			}
			data, offset := drawWrite(t)
			image.Write(data, int64(offset))
			copy(model[offset:], data)
		}
		require.Equal(t, model, content(image))
		for i, b := range below {
			require.Equal(t, were[i], content(b), "what is below does not change")
		}
	})
}
