package managerimage

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAMaskIsHexadecimalOrAList(t *testing.T) {
	for text, want := range map[string]string{
		"0x1": "0x1", "0x03": "0x03", "0XfF": "0XfF", "0": "0x1", "0-1": "0x3", "0-1,4": "0x13", "[0,2]": "0x5", "63": "0x8000000000000000",
		"64": "0x10000000000000000", "3-3": "0x8",
	} {
		got, err := ParseCPUMask(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "0x", "0x0", "0x000", "0xg", "x", "1-", "-1", "3-1", "1024", "0-1024", "1,,2", "0x1,2", "1 2", "[]"} {
		_, err := ParseCPUMask(text)
		require.Error(t, err, text)
	}
}
