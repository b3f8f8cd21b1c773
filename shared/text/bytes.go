package text

import (
	"math"
	"strconv"
)

// binaryUnits are the units of sizes, as Kubernetes writes them, each 1024 of the one before.
var binaryUnits = []string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}

// Bytes formats a number of bytes with its unit: exactly where that takes five digits or fewer, as 10Gi or 1536Mi, and else with
// one decimal, as 5.0Gi. A size below 1 KiB has the unit B.
func Bytes(n int64) string {
	if n < 0 {
		return "-" + Bytes(-max(n, -math.MaxInt64))
	}
	if n == 0 {
		return "0"
	}
	if n < 1024 {
		return strconv.FormatInt(n, 10) + "B"
	}
	exact, unit := n, 0
	for exact%1024 == 0 {
		exact, unit = exact/1024, unit+1
	}
	if unit > 0 && exact <= 99999 {
		return strconv.FormatInt(exact, 10) + binaryUnits[unit]
	}
	about := float64(n)
	for unit = 0; about >= 1023.95; unit++ { // what is rounded to 1024.0 is 1.0 of the next
		about /= 1024
	}
	return strconv.FormatFloat(about, 'f', 1, 64) + binaryUnits[unit]
}
