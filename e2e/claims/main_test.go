package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWithoutTheProgramsItSaysWhatItNeeds(t *testing.T) {
	for _, programs := range [][3]string{{}, {"main.go", "main.go", ""}, {"main.go", "nowhere", "main.go"}} {
		err := run(context.Background(), programs[0], programs[1], programs[2])
		require.ErrorContains(t, err, "make claims CSI_PLUGIN=")
		require.ErrorContains(t, err, "external-provisioner")
	}
}
