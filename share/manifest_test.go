package share

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

func sample() manifest {
	return manifest{repository: "abc", counter: 2, previous: "0f62947beb61ecc6cf0f236d945a93040dc9f56d", entries: map[conversation.ID]entry{
		"jp-c17960987154-aexj": {"ff790e11e29c2f6020e820291a2fdafd27f42af7", stateLive}, "jp-c17960987164-wsjy": {"e34c4cf1ddfa69325b290cb3bfd303da0db016e3", stateRemoved},
	}}
}

// A manifest is read in the one form in which it is written: a signature covers no two meanings.
func FuzzManifest(f *testing.F) {
	f.Add(sample().text())
	f.Add([]byte("jp-push-v1\nrepository a\ncounter 1\nprevious -\n"))
	f.Add([]byte("jp-push-v1\nrepository a\ncounter 01\nprevious -\n"))
	f.Add([]byte("jp-push-v1\nrepository a\ncounter 1\nprevious -\njp-c1796098715-aexj x live\njp-c1796098715-aexj y live\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if m, err := parseManifest(text); err == nil {
			require.Equal(t, string(text), string(m.text()))
		}
	})
}

func TestManifestIsRead(t *testing.T) {
	m, err := parseManifest(sample().text())
	require.NoError(t, err)
	require.Equal(t, sample(), m)
	for _, change := range [][2]string{{"counter 2", "counter 0"}, {"live", "alive"}, {"jp-push-v1", "jp-push-v2"}, {"previous", "earlier"}} {
		text := sample().text()
		_, err := parseManifest([]byte(strings.Replace(string(text), change[0], change[1], 1)))
		require.Error(t, err, change)
	}
}

// A remote's names become names of this repository.
func TestSoundRefs(t *testing.T) {
	for ref, want := range map[string]bool{
		"refs/heads/main": true, live + "jp-c17960987154-aexj": true, archive + "jp-c17960987154-aexj": true, payloads + "jp-c17960987154-aexj": true,
		manifests + "4f18c2706371f71b52af46eb2763c100": true, live + "aside/jp-c17960987154-aexj": false, live + "x": false, manifests + "x": false,
		"refs/jp/remotes/origin/jp-c17960987154-aexj": false, "refs/jp/other/jp-c17960987154-aexj": false,
	} {
		require.Equal(t, want, sound(ref), ref)
	}
}
