package importer

// Formats are the formats that can be imported.
var Formats = []Format{claude{}, codex{}, newOpencode(), gemini{}, newGoose(), upstream{}}

// FormatNamed returns the format with a name, or nil.
func FormatNamed(name string) Format {
	for _, f := range Formats {
		if f.Name() == name {
			return f
		}
	}
	return nil
}
