package wire

import (
	"net/http"
	"net/url"
	"strings"
)

// Version is the only version of the API; its name begins every path.
const Version = "v1"

// BaseOf returns the address that links of an answer begin with, without a slash at its end. The client reached this server there,
// as its headers, or the headers that proxies add, report. managerURL, the setting manager-url, wins if it is not empty.
func BaseOf(r *http.Request, managerURL string) string {
	if requested := first(r.Header.Get("X-API-request-url")); requested != "" && managerURL == "" {
		requested, _, _ = strings.Cut(requested, "?")
		return strings.TrimSuffix(strings.TrimSuffix(requested, r.URL.Path), "/")
	}
	forwarded := first(r.Header.Get("X-Forwarded-Proto"))
	proto, host := forwarded, first(r.Header.Get("X-Forwarded-Host"))
	if proto != "https" { // any other word could become part of a link
		proto = "http"
	}
	if host == "" {
		host = r.Host
	}
	if port := first(r.Header.Get("X-Forwarded-Port")); forwarded != "" && port != "" && port != "80" && port != "443" &&
		!strings.Contains(host, ":") {
		host += ":" + port
	}
	if managed, err := url.Parse(managerURL); managerURL != "" && err == nil && managed.Host != "" {
		return strings.TrimSuffix(managed.Scheme+"://"+managed.Host+managed.Path, "/")
	}
	return proto + "://" + host
}

// first returns the first item of a list with commas.
func first(list string) string {
	item, _, _ := strings.Cut(list, ",")
	return strings.TrimSpace(item)
}

// SelfURL returns the address of a resource.
func SelfURL(base, resourceType, id string) string {
	return CollectionURL(base, resourceType) + "/" + url.PathEscape(id)
}

// CollectionURL returns the address of the resources of a type.
func CollectionURL(base, resourceType string) string {
	return base + "/" + Version + "/" + strings.ToLower(Plural(resourceType))
}

// Plural returns the plural of a type's name, as the API builds it.
func Plural(name string) string {
	switch {
	case strings.HasSuffix(name, "s"), strings.HasSuffix(name, "x"), strings.HasSuffix(name, "ch"):
		return name + "es"
	}
	return name + "s"
}
