(() => {
  const refuse = () => Promise.reject(new DOMException("closed", "SecurityError"));
  if (self.ServiceWorkerContainer) {
    Object.defineProperty(ServiceWorkerContainer.prototype, "register", { value: refuse });
  }
})();
