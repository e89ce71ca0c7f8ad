// Original file: grpc/reflection/v1/reflection.proto


/**
 * Each is a google.protobuf.FileDescriptorProto.
 */
export interface FileDescriptorResponse {
  'fileDescriptorProto'?: (Buffer | Uint8Array | string)[];
}

/**
 * Each is a google.protobuf.FileDescriptorProto.
 */
export interface FileDescriptorResponse__Output {
  'fileDescriptorProto': (Buffer)[];
}
