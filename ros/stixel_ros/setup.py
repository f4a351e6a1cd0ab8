# SPDX-License-Identifier: Apache-2.0
from glob import glob

from setuptools import setup

setup(
    name="stixel_ros",
    version="0.2.0",
    packages=["stixel_ros"],
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/stixel_ros"]),
        ("share/stixel_ros", ["package.xml"]),
        ("share/stixel_ros/launch", glob("launch/*.launch.py")),
        ("share/stixel_ros/config", glob("config/*")),
    ],
    install_requires=["setuptools"],
    zip_safe=True,
    maintainer="The stixeld authors",
    maintainer_email="stixeld@stixeld.invalid",
    description="A node that publishes what stixeld sees",
    license="Apache-2.0",
    entry_points={"console_scripts": ["stixel_node = stixel_ros.node:main"]},
)
