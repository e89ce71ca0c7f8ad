import files from './gen/files.json' with { type: 'json' };

/** A proto file, compiled, with the names of the files that it imports and of all that it declares. */
export interface ProtoFile {
  imports: readonly string[];
  symbols: readonly string[];
  /** A `google.protobuf.FileDescriptorProto` in base64. */
  descriptor: string;
}

/** All files of the gRPC contracts, and what they import, by their names. */
export const protoFiles: Readonly<Record<string, ProtoFile>> = files;
