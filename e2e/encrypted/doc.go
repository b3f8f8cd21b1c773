// Package encrypted runs the life of a volume over mutual TLS between im-monitor and the instance managers.
package encrypted
