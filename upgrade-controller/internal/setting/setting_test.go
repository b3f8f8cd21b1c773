package setting

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/setting"
	"drover.dev/drover/shared/setting/documented"
)

func TestTheTableOfObeyedSettingsNamesThese(t *testing.T) {
	require.Equal(t, setting.ObeyedBy(setting.UpgradeController), Catalogue.Names())
}

// docs/settings.md lists the defaults that this binary reads.
func TestTheDocumentedDefaultsAreThoseThatAreRead(t *testing.T) {
	for _, name := range Catalogue.Names() {
		require.Empty(t, documented.Settings()[name].Default, name)
	}
	require.Zero(t, Catalogue.Defaults())
}

func TestValues(t *testing.T) {
	image, secret, none := "host:5000/im@sha256:ab", "registry", "im v1"
	memory := setting.Remember(Catalogue)
	for name, value := range map[string]*string{DefaultInstanceManagerImage: &image, RegistrySecret: &secret} {
		_, err := memory.Set(name, value)
		require.NoError(t, err)
	}
	require.Equal(t, Values{Image: image, PullSecret: secret}, memory.Values(""))
	_, err := memory.Set(DefaultInstanceManagerImage, &none)
	require.ErrorContains(t, err, "not an image")
}
