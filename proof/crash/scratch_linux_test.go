package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMountsBelow(t *testing.T) {
	const table = `22 1 8:1 / / rw - ext4 /dev/x rw
30 22 0:40 / /tmp/crash1/T/disk rw shared:9 - tmpfs none rw
31 22 0:41 / /tmp/crash12 rw - tmpfs none rw
32 30 0:42 / /tmp/crash1/T/disk/in rw - tmpfs none rw
`
	require.Equal(t, []string{"/tmp/crash1/T/disk", "/tmp/crash1/T/disk/in"}, mountsBelow(table, "/tmp/crash1"))
}
