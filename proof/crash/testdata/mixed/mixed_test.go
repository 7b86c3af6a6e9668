// Package mixed has one test of each kind that a suite may have.
package mixed

import (
	"os"
	"path/filepath"
	"testing"

	"jp/internal/testing/crashtest/row"
)

func TestReports(t *testing.T) {
	row.Log(t, row.Row{Class: "a", Name: "first", Points: 7, Note: row.Of("usual", "sample", "full")})
	t.Run("below", func(t *testing.T) {
		row.Log(t, row.Row{Class: "a", Name: "second", Points: 5})
	})
}

func TestCannot(t *testing.T) { row.Skip(t, "a", "a disk of its own", "no root") }

func TestSilent(*testing.T) {}

func TestViolates(t *testing.T) {
	row.Log(t, row.Row{Class: "a", Name: "third", Points: 2, Violations: 1})
}

func TestFails(t *testing.T) { t.Error("this is why") }

func TestOtherClass(t *testing.T) { row.Log(t, row.Row{Class: "b", Name: "fourth", Points: 1}) }

func TestDies(*testing.T) { panic("this is how") }

// TestWaits says that it has begun, and never ends.
func TestWaits(t *testing.T) {
	if err := os.WriteFile(filepath.Join(t.TempDir(), "made"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-t.Context().Done()
}
