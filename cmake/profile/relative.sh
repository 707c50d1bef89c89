#!/bin/sh
# relative.sh SOURCE BUILD COMMAND...: runs the command, with paths below these folders made relative to BUILD. BUILD is the current folder,
# and the link `source` in it leads to SOURCE.
#
# GCC finds the counts of a function in an unnamed namespace by the path of its file on the command line. With absolute paths, a profile
# could be used only in the folder in which it was made.
source=$1 build=$2
shift 2
for argument do
  shift
  case $argument in
    "$build"/*) argument=${argument#"$build"/} ;;
    "$source"/*) argument=source/${argument#"$source"/} ;;
    -I"$build"/*) argument=-I${argument#-I"$build"/} ;;
  esac
  set -- "$@" "$argument"
done
exec "$@"
