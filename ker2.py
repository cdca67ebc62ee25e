from ker import kern, r, wt
import numpy as np
def f(R,s,q,kh):
    phi=kern(s,q); return float(np.sum(4*np.pi*r*r*phi*np.sinc(kh*R*r/np.pi)*wt))
u=np.linspace(0.01,4,400); spec=u**2*np.exp(-u*u)*u**0 # velocity far-field energy ~ (w e^{-w^2/2})^2
def rms(R,s,q,N=5,ppw=6.9):
    kh=2*np.pi*N/ppw*u/1.82
    e=np.array([f(R,s,q,k)-1 for k in kh]); return np.sqrt((e**2*spec).sum()/spec.sum())
if __name__=="__main__":
  for c in [(0.5,2,2),(0.5,3,2),(0.4,2,2),(.45,3,2),(.6,4,2),(0.5,4,2),(0.6,3,4),(0.5,2,4),(0.6,2,4),(0.7,2,4),(0.75,3,4),(.75,2,4),(0.75,2,6),(1,2,6),(1,3,6),(1,4,6)]:
    print(c,"rms %.2f%%"%(100*rms(*c)),"7ppw %.2f 5ppw %.2f"%tuple(100*(f(*c,2*np.pi*5/p)-1) for p in (7,5)),"high",[round(f(*c,2*np.pi*5/p),2) for p in (4,3,2.5,2,1.5,1.2,1)])
