package managerimage

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

var (
	maskPattern = regexp.MustCompile(`^0[xX][0-9a-fA-F]{1,256}$`)
	listPattern = regexp.MustCompile(`^[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*$`)
)

// mostCPUs is the number of CPUs that a mask may name.
const mostCPUs = 1024

// ParseCPUMask reads the CPUs of SPDK: a hexadecimal mask such as 0x3, which stays as it is, or a list such as 0-1,4, with or without
// brackets, which becomes a mask. At least one CPU has to be named.
func ParseCPUMask(text string) (string, error) {
	if maskPattern.MatchString(text) {
		if strings.Trim(text[2:], "0") == "" {
			return "", fmt.Errorf("the mask %s names no CPU", text)
		}
		return text, nil
	}
	list := strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	if !listPattern.MatchString(list) {
		return "", fmt.Errorf("%q is neither a hexadecimal mask such as 0x3 nor a list of CPUs such as 0-1,4", text)
	}
	mask := new(big.Int)
	for item := range strings.SplitSeq(list, ",") {
		low, high, err := cpuRange(item)
		if err != nil {
			return "", err
		}
		for cpu := low; cpu <= high; cpu++ {
			mask.SetBit(mask, cpu, 1)
		}
	}
	return "0x" + mask.Text(16), nil
}

// cpuRange reads 3 or 0-3.
func cpuRange(item string) (low, high int, err error) {
	from, to, found := strings.Cut(item, "-")
	if !found {
		to = from
	}
	if low, err = strconv.Atoi(from); err == nil {
		high, err = strconv.Atoi(to)
	}
	if err != nil || low > high || high >= mostCPUs {
		return 0, 0, fmt.Errorf("%q is no range of CPUs below %d", item, mostCPUs)
	}
	return low, high, nil
}
