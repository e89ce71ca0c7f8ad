// Original file: grpc/reflection/v1/reflection.proto


export interface ExtensionRequest {
  'containingType'?: (string);
  'extensionNumber'?: (number);
}

export interface ExtensionRequest__Output {
  'containingType': (string);
  'extensionNumber': (number);
}
