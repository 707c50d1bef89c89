#!/bin/sh
# relative.sh SOURCE BUILD COMMAND...: the command, with its paths below these folders told from BUILD, where it runs and where
# `source` leads to SOURCE.
#
# GCC finds the counts of a function in an unnamed namespace by the path of its file as the compiler was told it. Told from the root,
# a profile would fit nowhere but in the folder that it was made in.
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
