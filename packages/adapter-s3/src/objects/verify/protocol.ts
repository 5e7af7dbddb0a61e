/** What the thread is told about a stream. A piece is handed over, and comes back when it was taken. */
export type ToThread =
  | { readonly stream: number; readonly kind: 'begin'; readonly partBytes: number | undefined }
  | { readonly stream: number; readonly kind: 'piece'; readonly piece: ArrayBuffer; readonly bytes: number }
  | { readonly stream: number; readonly kind: 'end' }
  | { readonly stream: number; readonly kind: 'drop' }

export type FromThread =
  | { readonly stream: number; readonly kind: 'taken'; readonly piece: ArrayBuffer }
  | { readonly stream: number; readonly kind: 'digest'; readonly digest: string }
