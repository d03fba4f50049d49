// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import "net"

// How frames of HTTP/2 look (RFC 9113, sections 4.1 and 6.5).
const (
	frameHeadBytes   = 9
	settingBytes     = 6
	settingsFrame    = 4
	maxFrameSizeName = 5
)

// shortFrame is the least that every peer takes, 16384, as a setting's value.
var shortFrame = [4]byte{0, 0, 0x40, 0}

// shortFrames is a connection to an app that seems to take frames of 16 KiB at most,
// whatever its first frame says: net/http has a buffer as long as one, up to 512 KiB,
// for each body under way, however short the body is.
type shortFrames struct {
	net.Conn
	// at is how much of the first frame was read, end its length; 0 is not known yet.
	at, end int
	// name is the setting at hand.
	name uint16
	over bool
}

// Read reads what the app sends.
func (c *shortFrames) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	for i := 0; i < n && !c.over; i++ {
		p[i] = c.next(p[i])
	}
	return n, err
}

// next is a byte of the first frame as it is passed on.
func (c *shortFrames) next(b byte) byte {
	at := c.at
	c.at++
	switch {
	case at < 3:
		c.end = c.end<<8 | int(b)
	case at == 3:
		c.over = b != settingsFrame
	case at == frameHeadBytes-1:
		c.end += frameHeadBytes
		c.over = c.end == frameHeadBytes
	case at >= frameHeadBytes:
		c.over = c.at == c.end
		return c.setting(b, (at-frameHeadBytes)%settingBytes)
	}
	return b
}

// setting is a byte of a setting: two are its name, the others its value.
func (c *shortFrames) setting(b byte, at int) byte {
	switch {
	case at < 2:
		c.name = c.name<<8 | uint16(b)
	case c.name == maxFrameSizeName:
		return shortFrame[at-2]
	}
	return b
}
