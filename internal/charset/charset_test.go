package charset_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"jp/internal/charset"
)

// jp calls a text Latin-1 or Windows-1252 if its letters are those of Western Europe.
func TestGuessed(t *testing.T) {
	latin, windows := charmap.ISO8859_1, charmap.Windows1252
	for _, tt := range []struct {
		in   encoding.Encoding
		text string
		want string // "": unknown
	}{
		{latin, "größe über alles, Straße\n", "Latin-1"},
		{latin, "été, créée, où, naïf, ça\n", "Latin-1"},
		{latin, "atenções e ações, coração; ¿qué? ¡sí! 5 °C, 3 µm, «été», §5, l·l\n", "Latin-1"},
		{latin, "// (c) J\u00f6rg \u00a9 2020\n", "Latin-1"},
		{latin, "íslenska er töluð á Íslandi, þjóð, æði, óþægð\n", "Latin-1"},
		{windows, "“Größe” — 5 €… l’été, cœur, Šimon, „so“\n", "Windows-1252"},
		{windows, "Don’t–stop…now • x™ ‘été’ … ”\n", "Windows-1252"},
		{charmap.KOI8R, "Привет мир\nold\n", ""},
		{charmap.Windows1251, "// Привет, мир\nint x;\n", ""},
		{charmap.ISO8859_5, "Привет мир\n", ""},
		{charmap.Windows1253, "Καλημέρα κόσμε\n", ""},
		{charmap.Windows1255, "שלום עולם\n", ""},
		{charmap.Windows1256, "مرحبا بالعالم\n", ""},
		{charmap.Windows874, "สวัสดี\n", ""},
		{simplifiedchinese.GBK, "// 中文测试\nint x;\n", ""},
		{traditionalchinese.Big5, "繁體中文\n", ""},
		{korean.EUCKR, "안녕하세요\n", ""},
		{japanese.EUCJP, "日本語\n", ""},
		{japanese.ShiftJIS, "日本語テスト\n", ""},
		{japanese.ShiftJIS, "これはひらがなです\n", ""},
		{charmap.CodePage437, "größe über Maß\n", ""},
		{charmap.Macintosh, "größe für Maß\n", ""},
	} {
		content, err := tt.in.NewEncoder().String(tt.text)
		require.NoError(t, err, tt.text)
		text, e, err := charset.Decode([]byte(content))
		require.NoError(t, err)
		require.Equal(t, tt.want == "", e.Unknown, "%s: %s", tt.in, tt.text)
		if tt.want != "" {
			require.Equal(t, [2]string{tt.text, tt.want}, [2]string{text, e.Name})
		} else {
			require.Equal(t, content, text)
		}
	}
}
