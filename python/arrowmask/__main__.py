"""python -m arrowmask --selftest | --report"""

import argparse
import json
import sys

import arrowmask


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m arrowmask", description="hash and mask columns of Arrow data")
    parser.add_argument("--selftest", action="store_true", help="run the known answers on every backend")
    parser.add_argument("--report", action="store_true", help="show the build and the chosen backends")
    args = parser.parse_args()
    if not (args.selftest or args.report):
        parser.print_help()
        return 2
    if args.report:
        print(json.dumps(arrowmask.report(), indent=2))
    if args.selftest:
        try:
            print(arrowmask.selftest(), end="")
        except arrowmask.Error as e:
            print(e, file=sys.stderr)
            return 1
        print("passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
