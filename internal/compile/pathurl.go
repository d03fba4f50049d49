// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"regexp"
	"strings"
)

// httpURL is a URL of HTTP, also as a regular expression.
var httpURL = regexp.MustCompile(`^\^?(?i:https?)://([^/?#]*)([^?#]*)`)

var portOfHost = regexp.MustCompile(`:[0-9]+$`)

// urlMend says what to write for a URL where a path is wanted; empty for what is none.
func urlMend(value string) string {
	parts := httpURL.FindStringSubmatch(value)
	if parts == nil {
		return ""
	}
	path := parts[2]
	if path == "" {
		path = "/"
	}
	mend := fmt.Sprintf("%q is a URL, and a path begins after the host: write %s", value, path)
	host := strings.ToLower(portOfHost.ReplaceAllString(strings.ReplaceAll(parts[1], `\`, ""), ""))
	if !hostName.MatchString(host) {
		return mend + "; a match of a rule names hosts in hosts"
	}
	return mend + "; a match of a rule names the host in hosts: [" + host + "]"
}
