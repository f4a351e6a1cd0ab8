# A DDS reader that is independent of the bridge: ordinary IdlStructs, with the members of the ROS messages under their
# names in the DDS IDL of ROS, which end with "_". It also writes images and calibrations. Commands
# and events as in zenoh_node.py.
#   dds_node.py DOMAIN
# SPDX-License-Identifier: Apache-2.0
import base64
import dataclasses
import json
import os
import select
import sys
import zlib

from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsParticipant, BuiltinTopicDcpsPublication
from cyclonedds.core import Policy, Qos
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.idl import IdlStruct, types
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic


@dataclasses.dataclass
class Time(IdlStruct, typename="builtin_interfaces.msg.dds_.Time_"):
    sec_: types.int32
    nanosec_: types.uint32


@dataclasses.dataclass
class Header(IdlStruct, typename="std_msgs.msg.dds_.Header_"):
    stamp_: Time
    frame_id_: str


@dataclasses.dataclass
class LaserScan(IdlStruct, typename="sensor_msgs.msg.dds_.LaserScan_"):
    header_: Header
    angle_min_: types.float32
    angle_max_: types.float32
    angle_increment_: types.float32
    time_increment_: types.float32
    scan_time_: types.float32
    range_min_: types.float32
    range_max_: types.float32
    ranges_: types.sequence[types.float32]
    intensities_: types.sequence[types.float32]


@dataclasses.dataclass
class Image(IdlStruct, typename="sensor_msgs.msg.dds_.Image_"):
    header: Header  # rmw_cyclonedds describes it without the "_" suffix
    height: types.uint32
    width: types.uint32
    encoding: str
    is_bigendian: types.uint8
    step: types.uint32
    data: types.sequence[types.uint8]


@dataclasses.dataclass
class CompressedImage(IdlStruct, typename="sensor_msgs.msg.dds_.CompressedImage_"):
    header_: Header
    format_: str
    data_: types.sequence[types.uint8]


@dataclasses.dataclass
class RegionOfInterest(IdlStruct, typename="sensor_msgs.msg.dds_.RegionOfInterest_"):
    x_offset_: types.uint32
    y_offset_: types.uint32
    height_: types.uint32
    width_: types.uint32
    do_rectify_: bool


@dataclasses.dataclass
class CameraInfo(IdlStruct, typename="sensor_msgs.msg.dds_.CameraInfo_"):
    header_: Header
    height_: types.uint32
    width_: types.uint32
    distortion_model_: str
    d_: types.sequence[types.float64]
    k_: types.array[types.float64, 9]
    r_: types.array[types.float64, 9]
    p_: types.array[types.float64, 12]
    binning_x_: types.uint32
    binning_y_: types.uint32
    roi_: RegionOfInterest


@dataclasses.dataclass
class Vector3(IdlStruct, typename="geometry_msgs.msg.dds_.Vector3_"):
    x_: types.float64
    y_: types.float64
    z_: types.float64


@dataclasses.dataclass
class Quaternion(IdlStruct, typename="geometry_msgs.msg.dds_.Quaternion_"):
    x_: types.float64
    y_: types.float64
    z_: types.float64
    w_: types.float64


@dataclasses.dataclass
class Transform(IdlStruct, typename="geometry_msgs.msg.dds_.Transform_"):
    translation_: Vector3
    rotation_: Quaternion


@dataclasses.dataclass
class TransformStamped(IdlStruct, typename="geometry_msgs.msg.dds_.TransformStamped_"):
    header_: Header
    child_frame_id_: str
    transform_: Transform


@dataclasses.dataclass
class TFMessage(IdlStruct, typename="tf2_msgs.msg.dds_.TFMessage_"):
    transforms_: types.sequence[TransformStamped]


@dataclasses.dataclass
class Point(IdlStruct, typename="geometry_msgs.msg.dds_.Point_"):
    x_: types.float64
    y_: types.float64
    z_: types.float64


@dataclasses.dataclass
class Pose(IdlStruct, typename="geometry_msgs.msg.dds_.Pose_"):
    position_: Point
    orientation_: Quaternion


@dataclasses.dataclass
class PoseWithCovariance(IdlStruct, typename="geometry_msgs.msg.dds_.PoseWithCovariance_"):
    pose_: Pose
    covariance_: types.array[types.float64, 36]


@dataclasses.dataclass
class Twist(IdlStruct, typename="geometry_msgs.msg.dds_.Twist_"):
    linear_: Vector3
    angular_: Vector3


@dataclasses.dataclass
class TwistWithCovariance(IdlStruct, typename="geometry_msgs.msg.dds_.TwistWithCovariance_"):
    twist_: Twist
    covariance_: types.array[types.float64, 36]


@dataclasses.dataclass
class Odometry(IdlStruct, typename="nav_msgs.msg.dds_.Odometry_"):
    header_: Header
    child_frame_id_: str
    pose_: PoseWithCovariance
    twist_: TwistWithCovariance


@dataclasses.dataclass
class UUID(IdlStruct, typename="unique_identifier_msgs.msg.dds_.UUID_"):
    uuid_: types.array[types.uint8, 16]


@dataclasses.dataclass
class Obstacle(IdlStruct, typename="nav2_dynamic_msgs.msg.dds_.Obstacle_"):
    uuid_: UUID
    score_: types.float32
    position_: Point
    velocity_: Vector3
    size_: Vector3
    position_covariance_: types.array[types.float64, 9]
    velocity_covariance_: types.array[types.float64, 9]


@dataclasses.dataclass
class ObstacleArray(IdlStruct, typename="nav2_dynamic_msgs.msg.dds_.ObstacleArray_"):
    header_: Header
    obstacles_: types.sequence[Obstacle]


@dataclasses.dataclass
class Gid(IdlStruct, typename="rmw_dds_common.msg.dds_.Gid_"):
    data_: types.array[types.uint8, 16]


@dataclasses.dataclass
class NodeEntitiesInfo(IdlStruct, typename="rmw_dds_common.msg.dds_.NodeEntitiesInfo_"):
    node_namespace_: types.bounded_str[256]
    node_name_: types.bounded_str[256]
    reader_gid_seq_: types.sequence[Gid]
    writer_gid_seq_: types.sequence[Gid]


@dataclasses.dataclass
class ParticipantEntitiesInfo(IdlStruct, typename="rmw_dds_common.msg.dds_.ParticipantEntitiesInfo_"):
    gid_: Gid
    node_entities_info_seq_: types.sequence[NodeEntitiesInfo]


TYPES = {"LaserScan": LaserScan, "Image": Image, "CompressedImage": CompressedImage, "CameraInfo": CameraInfo,
         "TFMessage": TFMessage, "Odometry": Odometry, "ObstacleArray": ObstacleArray, "Graph": ParticipantEntitiesInfo}


def say(**what):
    print(json.dumps(what, default=list), flush=True)


def keeping(kind):
    """Returns the same type, with samples that keep the bytes they were read from."""
    read = kind.deserialize

    def deserialize(data, **more):
        sample = read(data, **more)
        sample.raw = bytes(data)
        return sample
    kind.deserialize = deserialize
    return kind


class Node:
    def __init__(self, domain):
        self.domain = Domain(domain, os.environ["NODE_CONFIG"])
        self.participant = DomainParticipant(domain)
        self.mine = self.participant.guid
        self.publications = BuiltinDataReader(self.participant, BuiltinTopicDcpsPublication)
        self.participants = BuiltinDataReader(self.participant, BuiltinTopicDcpsParticipant)
        self.readers = {}
        self.writers = {}

    def publish(self, topic, command):
        kind = TYPES[command["type"]]
        if topic not in self.writers:
            self.writers[topic] = DataWriter(self.participant, Topic(self.participant, topic, kind), Qos(
                Policy.Reliability.BestEffort, Policy.History.KeepLast(5),
                Policy.DataRepresentation(use_cdrv0_representation=True)))
        self.writers[topic].write(kind.deserialize(base64.b64decode(command["cdr"])))

    def obey(self, command):
        topic = command["topic"]
        if command["do"] == "unsubscribe":
            del self.readers[topic]
            return
        if command["do"] == "publish":
            self.publish(topic, command)
            return
        qos = Qos(
            Policy.Reliability.Reliable(10**8) if command.get("reliable") else Policy.Reliability.BestEffort,
            Policy.Durability.TransientLocal if command.get("late") else Policy.Durability.Volatile,
            Policy.History.KeepLast(5), Policy.DataRepresentation(use_cdrv0_representation=True))
        self.readers[topic] = DataReader(
            self.participant, Topic(self.participant, topic, keeping(TYPES[command["type"]])), qos)

    def look(self):
        for p in self.participants.take(20):
            if p.sample_info.valid_data and p.key != self.mine:
                say(event="participant", guid=p.key.bytes.hex(), user=user_data(p.qos))
        for p in self.publications.take(50):
            if p.sample_info.valid_data and p.participant_key != self.mine:
                say(event="writer", topic=p.topic_name, type=p.type_name, guid=p.key.bytes.hex(), user=user_data(p.qos),
                    described=p.type_id is not None, reliable=Policy.Reliability.BestEffort not in p.qos,
                    late=Policy.Durability.TransientLocal in p.qos)
        for topic, reader in self.readers.items():
            for sample in reader.take(20):
                if sample.sample_info.valid_data:
                    crc = zlib.crc32(bytes(sample.data)) if isinstance(sample, Image) else None
                    say(event="message", topic=topic, cdr=base64.b64encode(sample.raw).decode(), crc=crc,
                        sample=None if crc else dataclasses.asdict(sample), sent_ns=sample.sample_info.source_timestamp)


def user_data(qos):
    return bytes(qos[Policy.Userdata].data).decode() if Policy.Userdata in qos else ""


def main():
    node = Node(int(sys.argv[1]))
    say(event="ready")
    commands = open(0, "rb", buffering=0)  # select() does not see a command in a buffer
    while True:
        if select.select([commands], [], [], 0.02)[0]:
            line = commands.readline()
            if not line:
                return
            node.obey(json.loads(line))
        node.look()


if __name__ == "__main__":
    main()
