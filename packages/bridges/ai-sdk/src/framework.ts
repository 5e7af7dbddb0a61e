import { checkFramework } from '@ws/tools/bridge'

export function checkAiSdk(operation: string): void {
  checkFramework(operation, { name: 'ai', from: '7.0.173', importer: import.meta.url })
  checkFramework(operation, { name: '@ai-sdk/provider-utils', from: '5.0.81', importer: import.meta.url })
}
