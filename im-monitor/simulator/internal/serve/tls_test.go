package serve

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAServerSpeaksTLSOnThePortsOfItsImage(t *testing.T) {
	for image, want := range map[string]map[int]bool{
		"im:v1.12.0": {ProcessPort: false, ProxyPort: true, DiskPort: false, InstancePort: true, SPDKPort: false},
		"im:v1.12.1": {ProcessPort: true, ProxyPort: true, DiskPort: true, InstancePort: true, SPDKPort: true},
		"":           {ProcessPort: true, ProxyPort: true, DiskPort: true, InstancePort: true, SPDKPort: true},
	} {
		for port, encrypted := range want {
			require.Equal(t, encrypted, speaksTLS(image, port), "%s port %d", image, port)
		}
	}
}
