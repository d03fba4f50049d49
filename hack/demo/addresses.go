// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net"
	"strconv"
)

// heldPort is listened on at a pod's address for as long as the demo runs, so that
// two demos at once take different addresses.
const heldPort = 15419

// holdAddress finds a loopback address that no other demo holds and on which the
// port is free. The caller closes the holder when the pod is gone.
func holdAddress(port int32) (address string, holder net.Listener, err error) {
	for last := 2; last < 255; last++ {
		address = fmt.Sprintf("127.0.0.%d", last)
		holder, err = net.Listen("tcp", net.JoinHostPort(address, strconv.Itoa(heldPort)))
		if err != nil {
			continue
		}
		var probe net.Listener
		probe, err = net.Listen("tcp", net.JoinHostPort(address, strconv.Itoa(int(port))))
		if err == nil {
			probe.Close()
			return address, holder, nil
		}
		holder.Close()
	}
	return "", nil, fmt.Errorf("no loopback address has ports %d and %d free; stop what listens there on all addresses: %w", port, heldPort, err)
}

// freeAddresses finds loopback addresses on which nothing listens.
func freeAddresses(count int) ([]string, error) {
	var addresses []string
	for range count {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer listener.Close()
		addresses = append(addresses, listener.Addr().String())
	}
	return addresses, nil
}
