package redact

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkScan reads Go source, which has many of the keywords.
func BenchmarkScan(b *testing.B) {
	one := source(b)
	text := strings.Repeat(one, (10<<20)/len(one)+1)
	for _, kib := range []int{1, 256, 10 << 10} {
		b.Run(fmt.Sprintf("%dKiB", kib), func(b *testing.B) {
			var s Scanner
			s.Scan(text[:kib<<10])
			b.SetBytes(int64(kib << 10))
			for b.Loop() {
				s.Scan(text[:kib<<10])
			}
		})
	}
}

// BenchmarkReady measures the first text in a process.
func BenchmarkReady(b *testing.B) {
	for b.Loop() {
		var s Scanner
		s.Scan("the key of a token: password, api and access")
	}
}
