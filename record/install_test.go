package record_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/record"
)

// TestClaudeSettings varies the settings that jp's hooks go into and come out of again.
func TestClaudeSettings(t *testing.T) {
	t.Parallel()
	const other = `{
  "model": "opus",
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          {
            "type": "command",
            "command": "mine"
          }
        ]
      }
    ]
  },
  "env": {
    "B": "2",
    "A": "1"
  }
}
`
	for _, row := range []struct{ name, text, without, wrong string }{
		{name: "no file"},
		{name: "an empty file", text: "\n", without: "{}\n"},
		{name: "no hooks", text: "{\n  \"z\": 1,\n  \"a\": [\n    1\n  ]\n}\n"},
		{name: "hooks of the user", text: other},
		{name: "another form", text: `{"z":1, "a" : {"b":[ ]}}`},
		{name: "one line", text: "{\"z\":1}\n\n"},
		{name: "no JSON", text: "{", wrong: "cannot read "},
		{name: "no object", text: "[]", wrong: "cannot read "},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			file := filepath.Join(home, ".claude", "settings.json")
			if row.text != "" {
				require.NoError(t, os.Mkdir(filepath.Dir(file), 0o700))
				require.NoError(t, os.WriteFile(file, []byte(row.text), 0o640))
			}
			plan := func(remove bool) (record.SettingsChange, error) {
				l := record.Launch{Own: "jp", Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }}
				return record.Programs[0].Settings(t.Context(), l, remove)
			}
			change, err := plan(false)
			if row.wrong != "" {
				require.ErrorContains(t, err, row.wrong)
				return
			}
			require.NoError(t, err)
			require.NoError(t, change.Write())
			require.Error(t, change.Write(), "the file has changed")
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, 8, strings.Count(string(text), "record hook --agent claude"))
			again, err := plan(false)
			require.NoError(t, err)
			require.True(t, again.None())
			gone, err := plan(true)
			require.NoError(t, err)
			require.NoError(t, gone.Write())
			text, err = os.ReadFile(file)
			require.NoError(t, err)
			switch {
			case row.without != "":
				require.Equal(t, row.without, string(text))
			case row.text == "":
				require.Equal(t, "{}\n", string(text))
			default:
				require.Equal(t, row.text, string(text))
			}
			if row.text != "" {
				info, err := os.Stat(file)
				require.NoError(t, err)
				require.Equal(t, os.FileMode(0o640), info.Mode().Perm())
			}
		})
	}
}
