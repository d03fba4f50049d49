// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redisconn_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/penstock-dev/penstock/internal/redisconn"
)

func TestPasswordIsNeverShown(t *testing.T) {
	t.Parallel()
	settings := redisconn.Settings{
		Addresses: []string{"h:1"}, Username: "app", Password: "topsecret", SentinelPassword: "topsecret too",
		TLS: &redisconn.TLS{Key: []byte("topsecret key")},
	}
	var logged bytes.Buffer
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("Connecting", "store", settings)
	shown := map[string]string{
		"String": settings.String(), "%v": fmt.Sprintf("%v", settings), "%+v": fmt.Sprintf("%+v", &settings),
		"%#v": fmt.Sprintf("%#v", settings), "log": logged.String(), "Redacted": settings.Redacted().Password,
		"sentinels": settings.Redacted().SentinelPassword, "key": string(settings.Redacted().TLS.Key),
	}
	for how, text := range shown {
		if strings.Contains(text, "topsecret") {
			t.Errorf("%s shows the password: %s", how, text)
		}
	}
	travelling, err := json.Marshal(settings)
	if err != nil || !strings.Contains(string(travelling), "topsecret") {
		t.Errorf("JSON is %s, %v, want the password in it: sidecars get it that way", travelling, err)
	}
}
