// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// identity is which pod this is.
type identity struct {
	name, namespace, uid string
	// ips are the pod's addresses, the first being the one that the app is dialled
	// at.
	ips []netip.Addr
}

// readPod reads the environment. Only in a pod must it say who this is: a rule set
// from a file is tried out anywhere, on loopback.
func readPod(getenv func(string) string, flags options) (identity, error) {
	pod := identity{name: getenv("POD_NAME"), namespace: getenv("POD_NAMESPACE"), uid: getenv("POD_UID")}
	if flags.rules == "" {
		for _, variable := range []string{"POD_NAME", "POD_NAMESPACE", "POD_UID", "POD_IPS"} {
			if getenv(variable) == "" {
				return identity{}, fmt.Errorf("environment variable %s is missing: the webhook sets it from the downward API; set it, or use --rules=FILE outside a pod", variable)
			}
		}
	}
	for text := range strings.SplitSeq(getenv("POD_IPS"), ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		address, err := netip.ParseAddr(text)
		if err != nil {
			return identity{}, fmt.Errorf("environment variable POD_IPS: %q is no IP address; want a comma-separated list, as of status.podIPs", text)
		}
		pod.ips = append(pod.ips, address.Unmap())
	}
	if len(pod.ips) == 0 {
		if flags.rules == "" {
			return identity{}, errors.New("environment variable POD_IPS names no address; want a comma-separated list, as of status.podIPs")
		}
		pod.ips = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}
	}
	return pod, nil
}

// listenHosts are the addresses to listen at: the pod's, and loopback for
// kubectl port-forward. Where the pod's own address is a loopback one, as when
// pods are local processes, it is that one alone, so that they do not collide.
func listenHosts(ips []netip.Addr, exists func(netip.Addr) bool) []netip.Addr {
	hosts := append([]netip.Addr(nil), ips...)
	for _, address := range ips {
		if address.IsLoopback() {
			return hosts
		}
	}
	for _, loopback := range []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()} {
		if exists(loopback) {
			hosts = append(hosts, loopback)
		}
	}
	return hosts
}

// canListen reports whether the machine has an address: a pod without IPv6 has no
// ::1.
func canListen(address netip.Addr) bool {
	listener, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(address, 0)))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

// listenAddresses are host:port for each host.
func listenAddresses(hosts []netip.Addr, port int32) []string {
	addresses := make([]string, len(hosts))
	for i, host := range hosts {
		addresses[i] = netip.AddrPortFrom(host, uint16(port)).String()
	}
	return addresses
}
