package kernels_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/arrowmask/arrowmask/internal/backendtest"
	"github.com/arrowmask/arrowmask/kernels"
)

// TestKnownAnswers: RFC 1321, appendix A.5, and the NIST example values for
// FIPS 180-4; the digests of the empty message from RFC 1321 and the CAVP
// files (Len = 0).
func TestKnownAnswers(t *testing.T) {
	const (
		twoBlocks64  = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"
		twoBlocks128 = "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"
	)
	million := strings.Repeat("a", 1_000_000)
	answers := map[kernels.Alg][][2]string{
		kernels.MD5: {
			{"", "d41d8cd98f00b204e9800998ecf8427e"},
			{"a", "0cc175b9c0f1b6a831c399e269772661"},
			{"abc", "900150983cd24fb0d6963f7d28e17f72"},
			{"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
			{"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"},
			{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"},
			{strings.Repeat("1234567890", 8), "57edf4a22be3c955ac49da2e2107b67a"},
		},
		kernels.SHA1: {
			{"", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
			{"abc", "a9993e364706816aba3e25717850c26c9cd0d89d"},
			{twoBlocks64, "84983e441c3bd26ebaae4aa1f95129e5e54670f1"},
			{million, "34aa973cd4c4daa4f61eeb2bdbad27316534016f"},
		},
		kernels.SHA224: {
			{"", "d14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f"},
			{"abc", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"},
			{twoBlocks64, "75388b16512776cc5dba5da1fd890150b0c6455cb4f58b1952522525"},
			{million, "20794655980c91d8bbb4c1ea97618a4bf03f42581948b2ee4ee7ad67"},
		},
		kernels.SHA256: {
			{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
			{"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
			{twoBlocks64, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
			{million, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
		},
		kernels.SHA384: {
			{"", "38b060a751ac96384cd9327eb1b1e36a21fdb71114be07434c0cc7bf63f6e1da274edebfe76f65fbd51ad2f14898b95b"},
			{"abc", "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"},
			{twoBlocks128, "09330c33f71147e83d192fc782cd1b4753111b173b3b05d22fa08086e3b0f712fcc7c71a557e2db966c3e9fa91746039"},
		},
		kernels.SHA512: {
			{"", "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"},
			{"abc", "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"},
			{twoBlocks128, "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909"},
		},
		kernels.SHA512_256: {
			{"", "c672b8d1ef56ed28ab87c3622c5114069bdd3ad7b8f9737498d0c01ecef0967a"},
			{"abc", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"},
			{twoBlocks128, "3928e184fb8690f840da3988121d31be65cb9d3ef83ee6146feac861e19b563a"},
		},
	}
	backendtest.Run(t, func(t *testing.T, b *kernels.Backend) {
		var rows [][]byte
		var want []byte
		for _, a := range answers[b.Alg] {
			rows = append(rows, []byte(a[0]))
			digest, err := hex.DecodeString(a[1])
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, digest...)
		}
		if len(rows) < 3 {
			t.Fatalf("only %d answers", len(rows))
		}
		for name, col := range layouts(rows) {
			diff(t, name, b.Alg.Size(), sum(t, kernels.New(b), &col), want, rows)
		}
	})
}

// TestHMACKnownAnswers: RFC 4231, test cases 1 to 4, 6 and 7. Case 5 is about a
// cut digest. The RFC has no sha512_256; those answers are OpenSSL's.
func TestHMACKnownAnswers(t *testing.T) {
	long := strings.Repeat("aa", 131)
	const (
		longKey  = "Test Using Larger Than Block-Size Key - Hash Key First"
		longBoth = "This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm."
	)
	cases := []struct {
		key, data string // the key in hex
		want      map[kernels.Alg]string
	}{
		{strings.Repeat("0b", 20), "Hi There", map[kernels.Alg]string{
			kernels.SHA224:     "896fb1128abbdf196832107cd49df33f47b4b1169912ba4f53684b22",
			kernels.SHA256:     "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
			kernels.SHA384:     "afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59cfaea9ea9076ede7f4af152e8b2fa9cb6",
			kernels.SHA512:     "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cdedaa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854",
			kernels.SHA512_256: "9f9126c3d9c3c330d760425ca8a217e31feae31bfe70196ff81642b868402eab",
		}},
		{hex.EncodeToString([]byte("Jefe")), "what do ya want for nothing?", map[kernels.Alg]string{
			kernels.SHA224:     "a30e01098bc6dbbf45690f3a7e9e6d0f8bbea2a39e6148008fd05e44",
			kernels.SHA256:     "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
			kernels.SHA384:     "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649",
			kernels.SHA512:     "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
			kernels.SHA512_256: "6df7b24630d5ccb2ee335407081a87188c221489768fa2020513b2d593359456",
		}},
		{strings.Repeat("aa", 20), strings.Repeat("\xdd", 50), map[kernels.Alg]string{
			kernels.SHA224:     "7fb3cb3588c6c1f6ffa9694d7d6ad2649365b0c1f65d69d1ec8333ea",
			kernels.SHA256:     "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
			kernels.SHA384:     "88062608d3e6ad8a0aa2ace014c8a86f0aa635d947ac9febe83ef4e55966144b2a5ab39dc13814b94e3ab6e101a34f27",
			kernels.SHA512:     "fa73b0089d56a284efb0f0756c890be9b1b5dbdd8ee81a3655f83e33b2279d39bf3e848279a722c806b485a47e67c807b946a337bee8942674278859e13292fb",
			kernels.SHA512_256: "229006391d66c8ecddf43ba5cf8f83530ef221a4e9401840d1bead5137c8a2ea",
		}},
		{"0102030405060708090a0b0c0d0e0f10111213141516171819", strings.Repeat("\xcd", 50), map[kernels.Alg]string{
			kernels.SHA224:     "6c11506874013cac6a2abc1bb382627cec6a90d86efc012de7afec5a",
			kernels.SHA256:     "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
			kernels.SHA384:     "3e8a69b7783c25851933ab6290af6ca77a9981480850009cc5577c6e1f573b4e6801dd23c4a7d679ccf8a386c674cffb",
			kernels.SHA512:     "b0ba465637458c6990e5a8c5f61d4af7e576d97ff94b872de76f8050361ee3dba91ca5c11aa25eb4d679275cc5788063a5f19741120c4f2de2adebeb10a298dd",
			kernels.SHA512_256: "36d60c8aa1d0be856e10804cf836e821e8733cbafeae87630589fd0b9b0a2f4c",
		}},
		{long, longKey, map[kernels.Alg]string{
			kernels.SHA224:     "95e9a0db962095adaebe9b2d6f0dbce2d499f112f2d2b7273fa6870e",
			kernels.SHA256:     "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
			kernels.SHA384:     "4ece084485813e9088d2c63a041bc5b44f9ef1012a2b588f3cd11f05033ac4c60c2ef6ab4030fe8296248df163f44952",
			kernels.SHA512:     "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f3526b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598",
			kernels.SHA512_256: "87123c45f7c537a404f8f47cdbedda1fc9bec60eeb971982ce7ef10e774e6539",
		}},
		{long, longBoth, map[kernels.Alg]string{
			kernels.SHA224:     "3a854166ac5d9f023f54d517d0b39dbd946770db9c2b95c9f6f565d1",
			kernels.SHA256:     "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
			kernels.SHA384:     "6617178e941f020d351e2f254e8fd32c602420feb0b8fb9adccebb82461e99c5a678cc31e799176d3860e6110c46523e",
			kernels.SHA512:     "e37b6a775dc87dbaa4dfa9f96e5e3ffddebd71f8867289865df5a32d20cdc944b6022cac3c4982b10d5eeb55c3e4de15134676fb6de0446065c97440fa8c6a58",
			kernels.SHA512_256: "6ea83f8e7315072c0bdaa33b93a26fc1659974637a9db8a887d06c05a7f35a66",
		}},
	}
	backendtest.RunKeyed(t, func(t *testing.T, b *kernels.Backend) {
		for i, c := range cases {
			key, err := hex.DecodeString(c.key)
			if err != nil {
				t.Fatal(err)
			}
			h, err := kernels.NewHMAC(b, key)
			if err != nil {
				t.Fatal(err)
			}
			rows := [][]byte{[]byte("a neighbour"), []byte(c.data), nil}
			col := offsets32(rows, 2)
			got := sum(t, h, &col)[b.Alg.Size() : 2*b.Alg.Size()]
			if hex.EncodeToString(got) != c.want[b.Alg] {
				t.Errorf("case %d: %x, want %s", i+1, got, c.want[b.Alg])
			}
		}
	})
}
