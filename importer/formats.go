package importer

// Formats are the formats that can be imported.
var Formats = []Format{claude{}, codex{}, newOpencode(), gemini{}, newGoose()}

// FormatNamed finds a format, nil if there is none of the name.
func FormatNamed(name string) Format {
	for _, f := range Formats {
		if f.Name() == name {
			return f
		}
	}
	return nil
}
