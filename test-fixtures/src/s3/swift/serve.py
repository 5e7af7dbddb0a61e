"""OpenStack Swift with its S3 API in one process: account, container, object and proxy servers, with `tempauth`.

serve.py DIRECTORY PORT ACCESS SECRET: listens on 127.0.0.1, keeps everything in DIRECTORY, and prints `ready`.
"""
import array
import os
import sys

import eventlet
import eventlet.hubs
import eventlet.tpool
import eventlet.wsgi

eventlet.hubs.use_hub('epolls')
eventlet.patcher.monkey_patch(all=False, socket=True, select=True, thread=True)
# A write ends in a thread, which removes the older file. A read that had chosen that file would answer 404: a cluster
# asks another replica then, and here is none. In one thread, no write ends between the choice and the opening.
eventlet.tpool.execute = lambda function, *values, **named: function(*values, **named)

directory, port, access, secret = sys.argv[1:5]
config = os.path.join(directory, 'config')
devices = os.path.join(directory, 'devices')
for path in (config, devices, os.path.join(devices, 'd1')):
    os.makedirs(path, exist_ok=True)


def write(name, text):
    path = os.path.join(config, name)
    with open(path, 'w') as file:
        file.write(text)
    return path


from swift.common import utils

# the place of this file is fixed otherwise
utils.SWIFT_CONF_FILE = write('swift.conf', '''[swift-hash]
swift_hash_path_suffix = tests
swift_hash_path_prefix = tests
''')
from swift.common.ring import RingData
from swift.common.wsgi import SwiftHttpProtocol, loadapp

utils.validate_configuration()


class Cache:
    """What servers share by memcached elsewhere."""

    def __init__(self):
        self.values = {}

    def get(self, key, **_):
        return self.values.get(key)

    def set(self, key, value, **_):
        self.values[key] = value

    def delete(self, key, **_):
        self.values.pop(key, None)

    def incr(self, key, delta=1, **_):
        self.values[key] = self.values.get(key, 0) + delta
        return self.values[key]


cache = Cache()


def with_cache(app):
    def answer(environment, start_response):
        environment['swift.cache'] = cache
        return app(environment, start_response)
    return answer


class Quiet:
    def write(self, *_):
        pass


def serve(listening, app):
    eventlet.spawn(
        eventlet.wsgi.server, listening, app, Quiet(), protocol=SwiftHttpProtocol, max_size=1024,
        capitalize_response_headers=False)


for kind in ('account', 'container', 'object'):
    listening = eventlet.listen(('127.0.0.1', 0))
    device = {
        'id': 0, 'region': 1, 'zone': 1, 'weight': 1.0, 'ip': '127.0.0.1', 'port': listening.getsockname()[1],
        'replication_ip': '127.0.0.1', 'replication_port': listening.getsockname()[1], 'device': 'd1', 'meta': '',
    }
    # 16 partitions on one device
    RingData([array.array('H', [0] * 16)], [device], 28).save(os.path.join(config, kind + '.ring.gz'))
    path = write(kind + '.conf', '''[DEFAULT]
swift_dir = %s
devices = %s
mount_check = false
log_address = /nonexistent
disable_fallocate = true
[pipeline:main]
pipeline = server
[app:server]
use = egg:swift#%s
conn_timeout = 20
node_timeout = 60
container_update_timeout = 60
''' % (config, devices, kind))
    serve(listening, loadapp(path))

path = write('proxy.conf', '''[DEFAULT]
swift_dir = %s
log_address = /nonexistent
[pipeline:main]
pipeline = catch_errors gatekeeper listing_formats s3api tempauth copy slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
conn_timeout = 20
node_timeout = 60
recoverable_node_timeout = 60
allow_account_management = true
account_autocreate = true
[filter:tempauth]
use = egg:swift#tempauth
user_%s_tests = %s .admin
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
allow_multipart_uploads = true
min_segment_size = 1
''' % (config, access, secret) + ''.join('''[filter:%s]
use = egg:swift#%s
''' % (name, name) for name in ('catch_errors', 'gatekeeper', 'listing_formats', 'copy', 'slo', 'dlo')))
serve(eventlet.listen(('127.0.0.1', int(port))), with_cache(loadapp(path)))
print('ready', flush=True)
while True:
    eventlet.sleep(3600)
